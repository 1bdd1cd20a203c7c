// CPU twins of fft.*, by FFTW.
#include <fftw3.h>

#include <array>
#include <iterator>
#include <mutex>
#include <new>

#include "kernels/library/host_call.h"
#include "kernels/library/library_schemas.h"

namespace weft::kernels {
namespace {

// FFTW's functions for a real type.
template <typename Real>
struct Fftw;
#define WEFT_FFTW(Real, prefix)                                     \
  template <>                                                       \
  struct Fftw<Real> {                                               \
    using Complex = prefix##_complex;                               \
    using Plan = prefix##_plan;                                     \
    using Dimension = prefix##_iodim64;                             \
    static constexpr auto kPlanC2C = &prefix##_plan_guru64_dft;     \
    static constexpr auto kPlanR2C = &prefix##_plan_guru64_dft_r2c; \
    static constexpr auto kPlanC2R = &prefix##_plan_guru64_dft_c2r; \
    static constexpr auto kExecute = &prefix##_execute;             \
    static constexpr auto kDestroy = &prefix##_destroy_plan;        \
  };
WEFT_FFTW(float, fftwf)
WEFT_FFTW(double, fftw)
#undef WEFT_FFTW

// Of FFTW, only carrying out a plan may be done by several threads at a time (its manual, "Thread
// safety"); there is one planner for each real type in the process.
template <typename Real>
std::mutex& PlannerMutex() {
  static std::mutex mutex;
  return mutex;
}

struct Extents {
  std::array<int64_t, 3> n;
  int rank;
  int64_t batch;
};

// Packed arrays of `innermost` elements a row.
template <typename Real>
class Geometry {
 public:
  using Dimension = typename Fftw<Real>::Dimension;

  Geometry(const Extents& extents, int64_t innermost_in, int64_t innermost_out) {
    int64_t in = 1;
    int64_t out = 1;
    for (int i = extents.rank - 1; i >= 0; --i) {
      dimensions_[i] = {extents.n[i], in, out};
      const bool innermost = i == extents.rank - 1;
      in *= innermost ? innermost_in : extents.n[i];
      out *= innermost ? innermost_out : extents.n[i];
    }
    batch_ = {extents.batch, in, out};
  }
  const Dimension* dimensions() const { return dimensions_.data(); }
  const Dimension* batch() const { return &batch_; }

 private:
  std::array<Dimension, 3> dimensions_;
  Dimension batch_;
};

// Makes a plan, carries it out, destroys it.
template <typename Real, typename MakePlan>
void RunPlan(MakePlan make_plan) {
  typename Fftw<Real>::Plan plan = nullptr;
  {
    const std::lock_guard<std::mutex> lock(PlannerMutex<Real>());
    plan = make_plan();
  }
  if (plan == nullptr) throw std::bad_alloc();  // FFTW says no more than that there is none
  Fftw<Real>::kExecute(plan);
  const std::lock_guard<std::mutex> lock(PlannerMutex<Real>());
  Fftw<Real>::kDestroy(plan);
}

// FFTW reads its sources through pointers that are not const; complex to real alone writes to it.
template <typename Real>
typename Fftw<Real>::Complex* AsComplex(const Real* numbers) {
  return reinterpret_cast<typename Fftw<Real>::Complex*>(const_cast<Real*>(numbers));
}

template <typename Real>
void C2C(const Real* src, Real* dst, int32_t direction, const Extents& extents) {
  const int64_t innermost = extents.n[extents.rank - 1];
  const Geometry<Real> geometry(extents, innermost, innermost);
  const int sign = direction == static_cast<int32_t>(FftArguments::Direction::kForward)
                       ? FFTW_FORWARD
                       : FFTW_BACKWARD;
  RunPlan<Real>([&] {
    return Fftw<Real>::kPlanC2C(extents.rank, geometry.dimensions(), 1, geometry.batch(),
                                AsComplex(src), AsComplex(dst), sign, FFTW_ESTIMATE);
  });
}

template <typename Real>
void R2C(const Real* src, Real* dst, const Extents& extents) {
  const int64_t innermost = extents.n[extents.rank - 1];
  const Geometry<Real> geometry(extents, innermost, innermost / 2 + 1);
  RunPlan<Real>([&] {
    return Fftw<Real>::kPlanR2C(extents.rank, geometry.dimensions(), 1, geometry.batch(),
                                const_cast<Real*>(src), AsComplex(dst), FFTW_ESTIMATE);
  });
}

template <typename Real>
void C2R(Real* src, Real* dst, const Extents& extents) {
  const int64_t innermost = extents.n[extents.rank - 1];
  const Geometry<Real> geometry(extents, innermost / 2 + 1, innermost);
  RunPlan<Real>([&] {
    return Fftw<Real>::kPlanC2R(extents.rank, geometry.dimensions(), 1, geometry.batch(),
                                AsComplex(src), dst, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
  });
}

// One function a rank, whose parameters are those of the schema.
template <typename Real>
void C2C1(const Real* src, Real* dst, int32_t direction, int64_t n0, int64_t batch, void*) {
  C2C(src, dst, direction, {{n0}, 1, batch});
}
template <typename Real>
void C2C2(const Real* src, Real* dst, int32_t direction, int64_t n0, int64_t n1, int64_t batch,
          void*) {
  C2C(src, dst, direction, {{n0, n1}, 2, batch});
}
template <typename Real>  // NOLINTNEXTLINE(readability-function-size)
void C2C3(const Real* src, Real* dst, int32_t direction, int64_t n0, int64_t n1, int64_t n2,
          int64_t batch, void*) {
  C2C(src, dst, direction, {{n0, n1, n2}, 3, batch});
}

// Between reals and complex numbers: kTransform(src, dst, extents).
template <auto kTransform, typename Source, typename Real>
void Rank1(Source* src, Real* dst, int64_t n0, int64_t batch, void*) {
  kTransform(src, dst, {{n0}, 1, batch});
}
template <auto kTransform, typename Source, typename Real>
void Rank2(Source* src, Real* dst, int64_t n0, int64_t n1, int64_t batch, void*) {
  kTransform(src, dst, {{n0, n1}, 2, batch});
}
template <auto kTransform, typename Source, typename Real>
void Rank3(Source* src, Real* dst, int64_t n0, int64_t n1, int64_t n2, int64_t batch, void*) {
  kTransform(src, dst, {{n0, n1, n2}, 3, batch});
}

#define WEFT_FFT_ENTRIES(Real, name)                                                              \
  HostCall<&C2C1<Real>>("weft_fft_c2c_1d_" name), HostCall<&C2C2<Real>>("weft_fft_c2c_2d_" name), \
      HostCall<&C2C3<Real>>("weft_fft_c2c_3d_" name),                                             \
      HostCall<&Rank1<&R2C<Real>, const Real, Real>>("weft_fft_r2c_1d_" name),                    \
      HostCall<&Rank2<&R2C<Real>, const Real, Real>>("weft_fft_r2c_2d_" name),                    \
      HostCall<&Rank3<&R2C<Real>, const Real, Real>>("weft_fft_r2c_3d_" name),                    \
      HostCall<&Rank1<&C2R<Real>, Real, Real>>("weft_fft_c2r_1d_" name),                          \
      HostCall<&Rank2<&C2R<Real>, Real, Real>>("weft_fft_c2r_2d_" name),                          \
      HostCall<&Rank3<&C2R<Real>, Real, Real>>("weft_fft_c2r_3d_" name)

constexpr weft_host_kernel kFftEntries[] = {WEFT_FFT_ENTRIES(float, "f32"),
                                            WEFT_FFT_ENTRIES(double, "f64")};
#undef WEFT_FFT_ENTRIES

}  // namespace

HostEntries FftEntries() { return {kFftEntries, std::size(kFftEntries)}; }

}  // namespace weft::kernels
